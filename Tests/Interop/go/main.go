// A client on go-oidc (Debian's 2.1, with go-jose 2): reads the metadata and the keys, and checks an ID token.
//
// Arguments: issuer, client ID, ID token. Prints the subject.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/coreos/go-oidc"
)

func main() {
	issuer, client, token := os.Args[1], os.Args[2], os.Args[3]
	provider, err := oidc.NewProvider(context.Background(), issuer)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	verified, err := provider.Verifier(&oidc.Config{ClientID: client}).Verify(context.Background(), token)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(verified.Subject)
}
