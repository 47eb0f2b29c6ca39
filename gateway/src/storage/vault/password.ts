/** argon2id with 64 MiB and two passes, as a PHC string, in a thread. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id", memoryCost: memoryKb(), timeCost: 2 });
}

export function passwordMatches(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(password, hash);
}

/** Set by the test bundler to make hashing cheap. */
declare const passwordKbOfTests: number | undefined;

function memoryKb(): number {
  return typeof passwordKbOfTests === "number" ? passwordKbOfTests : 65_536;
}
