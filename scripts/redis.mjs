// The server of the tests of shared counters. Each of them starts its own, and removes it.
import { ensureProgram } from "./debian-program.mjs";

export function ensureRedis() {
  ensureProgram({
    names: ["redis-server", "valkey-server"],
    debian: "redis-server",
    title: "Redis",
    tests: "the tests of shared counters",
  });
}
