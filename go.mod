module github.com/dengxu/dengxu

go 1.26
