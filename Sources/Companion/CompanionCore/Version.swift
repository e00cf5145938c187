/// This version, as in `companion --version` and the `User-Agent` field.
package let companionVersion = "0.3.0"
