// Command guardreport prints what the guard rules say of every message of Envoy's API.
package main

import (
	"log"
	"os"

	"fairlead/internal/resource"
)

func main() {
	if err := resource.WriteGuardReport(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
