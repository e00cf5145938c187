// client HOST PORT ROOT: asks https://HOST:PORT at 127.0.0.1 whether this client, which trusts ROOT alone, accepts it.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

func main() {
	pem, err := os.ReadFile(os.Args[3])
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	connection, err := tls.Dial("tcp", "127.0.0.1:"+os.Args[2], &tls.Config{RootCAs: roots, ServerName: os.Args[1]})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	connection.Close()
}
