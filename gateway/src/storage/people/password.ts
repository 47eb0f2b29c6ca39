/** Hashing of passwords: argon2id with 64 MiB and two passes, as a PHC string. Runs beside the event loop, not in it. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, { algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 });
}

export function passwordMatches(password: string, hash: string): Promise<boolean> {
  return Bun.password.verify(password, hash);
}
