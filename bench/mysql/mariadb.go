package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/dengxu/dengxu/bench/internal/rig"
)

// mariaDB is a server of our own.
type mariaDB struct {
	*rig.Program
	dsn   string
	about string
}

// startMariaDB makes a data folder and starts a server on it. It reads no
// configuration of the machine; what it is told is what Debian's says or, like
// READ COMMITTED, what spares the table locks that it does not need.
func startMariaDB(ctx context.Context, dir string) (*mariaDB, error) {
	server, err := find("mariadbd")
	if err != nil {
		return nil, err
	}
	install, err := find("mariadb-install-db")
	if err != nil {
		return nil, err
	}
	var user []string
	if os.Getuid() == 0 {
		user = []string{"--user=root"} // else it refuses to run as root
	}
	args := append([]string{"--no-defaults", "--datadir=" + dir, "--auth-root-authentication-method=normal", "--skip-test-db"}, user...)
	if out, err := exec.CommandContext(ctx, install, args...).CombinedOutput(); err != nil { //nolint:gosec // a folder of ours
		return nil, fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(addr, ":")
	args = append([]string{
		"--no-defaults", "--datadir=" + dir, "--bind-address=127.0.0.1", "--port=" + port,
		"--socket=" + filepath.Join(dir, "socket"), "--pid-file=" + filepath.Join(dir, "pid"), "--skip-name-resolve",
		"--innodb-flush-log-at-trx-commit=1", "--transaction-isolation=READ-COMMITTED",
	}, user...)
	p, err := rig.Start(exec.CommandContext(ctx, server, args...)) //nolint:gosec // as above
	if err != nil {
		return nil, err
	}
	m := &mariaDB{Program: p, dsn: "root@tcp(" + addr + ")/line?interpolateParams=true"}
	if err := m.create(ctx, "root@tcp("+addr+")/"); err != nil {
		p.Stop()
		return nil, err
	}
	return m, nil
}

// schema is the table. The number that people see is the row's, and the two
// indexes are those that the calls need.
const schema = `CREATE TABLE line.token (
	number BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
	queue_id VARCHAR(64) NOT NULL,
	state TINYINT NOT NULL,
	counter_id VARCHAR(64),
	business_id VARCHAR(128) NOT NULL,
	name VARCHAR(256) NOT NULL,
	phone VARCHAR(32) NOT NULL,
	joined_at DATETIME(3) NOT NULL,
	called_at DATETIME(3),
	completed_at DATETIME(3),
	KEY (queue_id, state, number),
	KEY (counter_id, state)
) ENGINE=InnoDB`

// create waits for the server and makes the table.
func (m *mariaDB) create(ctx context.Context, dsn string) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // nothing is left to be said
	if err := m.Await(ctx, func() error { return db.PingContext(ctx) }); err != nil {
		return err
	}
	for _, statement := range []string{"CREATE DATABASE line", schema} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	var version, flush, isolation, pool string
	err = db.QueryRowContext(ctx, "SELECT @@version, @@innodb_flush_log_at_trx_commit, @@tx_isolation, @@innodb_buffer_pool_size DIV 1048576").
		Scan(&version, &flush, &isolation, &pool)
	m.about = fmt.Sprintf("MariaDB %s, innodb_flush_log_at_trx_commit %s, %s, buffer pool %s MB", version, flush, isolation, pool)
	return err
}
