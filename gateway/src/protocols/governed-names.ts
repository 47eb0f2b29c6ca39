/**
 * Names of members that govern a call: who may make it, what it costs, what it is held to. Some upstreams read a name
 * in any case (Go's encoding/json, ASP.NET) and take the last one they find, so a member that differs from one of
 * these in case only would be read by the upstream and not by us: it is refused.
 */
export class GovernedNames extends Set<string> {
  /** Folded name → name; looked at only for a name as long as one of them. */
  readonly #folded: ReadonlyMap<string, string>;
  readonly #lengths: readonly boolean[];

  constructor(names: readonly string[]) {
    super(names);
    this.#folded = new Map(names.map((name) => [fold(name), name]));
    const lengths: boolean[] = [];
    for (const { length } of names) lengths[length] = true;
    this.#lengths = lengths;
  }

  /** The governed name that `name` spells in another way; null for a governed name itself and for any other. */
  variantOf(name: string): string | null {
    if (this.#lengths[name.length] !== true || this.has(name)) return null;
    return this.#folded.get(fold(name)) ?? null;
  }
}

/** As Go folds: also the long s (U+017F) and the Kelvin sign (U+212A). */
export function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/**
 * Members that choose a model, a host or an account, or multiply what a call costs, at one vendor or another. What becomes
 * of each is said by the kind of provider that would get it.
 */
export const choosingMembers: ReadonlySet<string> = new Set([
  "models",
  "fallbacks",
  "route",
  "preset",
  "plugins",
  "provider",
  "model_list",
  "custom_llm_provider",
  "deployment_id",
  "api_base",
  "base_url",
  "api_key",
  "extra_headers",
  "extra_body",
  "data_sources",
  "service_tier",
  "serviceTier",
  "speed",
  "inference_geo",
  "best_of",
]);
