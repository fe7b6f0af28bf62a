package pebblestore

// WithMemtable makes pebble flush after about so many bytes.
func (o Options) WithMemtable(bytes uint64) Options {
	o.memtable = bytes
	return o
}
