/**
 * Names of members that govern a call: who may make it, what it costs, what it is held to. Some upstreams read a name
 * in any case (Go's encoding/json, ASP.NET) and take the last one they find, so a member that differs from one of
 * these in case only would be read by the upstream and not by us: it is refused.
 */
export class GovernedNames extends Set<string> {
  /** Folded name → name; looked at only for a name as long as one of them. */
  readonly #folded: ReadonlyMap<string, string>;
  readonly #lengths: readonly boolean[];
  /** Other names as long as one of them, of bodies before. */
  readonly #unrelated = new Set<string>();

  constructor(names: readonly string[]) {
    super(names);
    this.#folded = new Map(names.map((name) => [foldCase(name), name]));
    const lengths: boolean[] = [];
    for (const { length } of names) lengths[length] = true;
    this.#lengths = lengths;
  }

  /** The governed name that `name` spells in another way; null for a governed name itself and for any other. */
  variantOf(name: string): string | null {
    if (this.#lengths[name.length] !== true || this.has(name) || this.#unrelated.has(name)) return null;
    const meant = this.#folded.get(foldCase(name)) ?? null;
    if (meant === null && this.#unrelated.size < unrelatedNamesMax) this.#unrelated.add(name);
    return meant;
  }
}

const unrelatedNamesMax = 500;

/** As Go folds: also the long s (U+017F) and the Kelvin sign (U+212A). */
export function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/**
 * Members of request bodies that decide what is the gateway's to decide, at one vendor or another, by what they decide. What
 * becomes of each is said by the kind of provider that would get it. A member of an object at the top is `object.member`. A
 * test walks the request types of the vendors' SDKs and fails for a member of these classes that no reader finds.
 */
const membersByClass = {
  /** Another model, or a route to one. */
  model: [
    "models",
    "fallbacks",
    "route",
    "preset",
    "plugins",
    "model_list",
    "deployment_id",
    ...ofGenerationConfig("routingConfig", "routing_config", "modelSelectionConfig", "model_selection_config"),
  ],
  /** Another host or account, or what is sent to it beside the body. */
  host: [
    "provider",
    "custom_llm_provider",
    "api_base",
    "base_url",
    "api_key",
    "extra_headers",
    "extra_body",
    "data_sources",
  ],
  /** A tier, a region or a discount: the answer says what was served, or the plain price is the most. */
  tier: ["service_tier", "serviceTier", "speed", "inference_geo", "background_options.completion_window"],
  /** A dearer way of thinking, or a program of the account. */
  program: ["reasoning.mode", "access_programs.cyber"],
  /** Several answers' work for one answer. */
  cost: ["best_of", "multi_agent.enabled"],
  /** Whose bill it goes on. */
  payer: ["billing_policy.bill_to", "user_profile_id", "workspace_id"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const governedMembers: ReadonlySet<string> = new Set(Object.values(membersByClass).flat());
export const tierMembers: ReadonlySet<string> = new Set(membersByClass.tier);

/** Gemini reads both spellings of every name. */
function ofGenerationConfig(...names: readonly string[]): readonly string[] {
  return ["generationConfig", "generation_config"].flatMap((config) => names.map((name) => `${config}.${name}`));
}
