import { BoundedMap, bounds } from "#core/index.ts";
import type { Clock } from "#ports/index.ts";
import { type AddressKind, addressKind } from "./address-kind.ts";
import type { Resolve } from "./name-cache.ts";

interface Verdict {
  /** null: the first look-up is under way. */
  kind: AddressKind | null;
  renewAtMs: number;
  pending: Promise<AddressKind> | null;
}

/**
 * What this machine's own resolver says of names that a proxy will look up. A name that leads to a private address here is
 * private; what is not known here is for the proxy alone to judge. In a closed network the resolver knows no name of the
 * outside, or never answers: then one call in a while waits for it, and no other.
 */
export class NameVerdicts {
  readonly #known = new BoundedMap<string, Verdict>(bounds.namesMax);
  readonly #clock: Clock;
  readonly #resolve: Resolve;

  constructor(clock: Clock, resolve: Resolve) {
    this.#clock = clock;
    this.#resolve = resolve;
  }

  /** At once when known, else a promise, which never rejects. */
  find(hostname: string): AddressKind | Promise<AddressKind> {
    const looks = kindOfName(hostname);
    if (looks !== "public") return looks;
    const verdict = this.#known.get(hostname) ?? this.#add(hostname);
    if (this.#clock.monotonic() >= verdict.renewAtMs) verdict.pending ??= this.#renew(hostname, verdict);
    return verdict.kind ?? verdict.pending ?? "public";
  }

  #add(hostname: string): Verdict {
    const verdict: Verdict = { kind: null, renewAtMs: 0, pending: null };
    this.#known.set(hostname, verdict);
    return verdict;
  }

  async #renew(hostname: string, verdict: Verdict): Promise<AddressKind> {
    const addresses = await this.#lookUp(hostname);
    const kinds = addresses.map(addressKind);
    const kind = kinds.includes("forbidden") ? "forbidden" : kinds.includes("private") ? "private" : "public";
    verdict.kind = kind;
    verdict.renewAtMs = this.#clock.monotonic() + (addresses.length > 0 ? bounds.nameFreshMs : bounds.nameStaleMs);
    verdict.pending = null;
    return kind;
  }

  /** Empty: it is not known here. */
  #lookUp(hostname: string): Promise<readonly string[]> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(bounds.nameLookupMs, () => resolve([]));
      this.#resolve(hostname)
        .then(resolve, () => resolve([]))
        .finally(cancel);
    });
  }
}

/** Endings that no public name has (RFC 6761, RFC 6762, RFC 8375, RFC 9476, and what clouds and clusters use). */
const ownEndings = [".localhost", ".local", ".localdomain", ".internal", ".home.arpa", ".lan", ".intranet", ".corp"];

/** A name without a dot, or under such an ending, is some machine's of the proxy's own network. */
function kindOfName(hostname: string): AddressKind {
  if (!hostname.includes(".") || ownEndings.some((ending) => hostname.endsWith(ending))) return "private";
  return "public";
}
