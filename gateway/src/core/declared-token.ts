/**
 * What is digested of an admin token that the config file names by its SHA-256 (hexadecimal). No secret reads so: each begins
 * otherwise.
 */
export function declaredTokenName(sha256: string): string {
  return `sha256:${sha256}`;
}
