/** For what must not happen twice. `crypto.randomUUID` is missing where a console is opened by http at another machine. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
