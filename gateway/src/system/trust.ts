import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";

const sharedName = "sluice.authorities";

/**
 * Believes these authorities (PEM) beside the usual ones, in every connection of this process that is told nothing else:
 * PostgreSQL, Redis, mail. Threads that are started later do so by `trustAsTheProcess`.
 */
export function trustAuthorities(authorities: readonly string[]): void {
  if (authorities.length === 0) return;
  setEnvironmentData(sharedName, [...authorities]);
  believe(authorities);
}

/** In a thread: what its process believes. */
export function trustAsTheProcess(): void {
  const authorities: unknown = getEnvironmentData(sharedName);
  if (Array.isArray(authorities)) believe(authorities as string[]);
}

function believe(authorities: readonly string[]): void {
  setDefaultCACertificates([...new Set([...getCACertificates("default"), ...authorities])]);
}
