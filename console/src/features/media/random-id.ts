/** A random id, such as an idempotency key. `crypto.randomUUID` is missing if the console is opened over http from another machine. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
