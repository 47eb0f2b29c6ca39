/**
 * Names of members that govern a call. Some upstreams match names in any case (Go's encoding/json, ASP.NET), so a member that differs
 * only in case is refused: the upstream would read it and we would not.
 */
export class GovernedNames extends Set<string> {
  /** Folded name → name, looked up only for matching lengths. */
  readonly #folded: ReadonlyMap<string, string>;
  readonly #lengths: readonly boolean[];
  /** Names of equal length seen before that are no variants. */
  readonly #unrelated = new Set<string>();

  constructor(names: readonly string[]) {
    super(names);
    this.#folded = new Map(names.map((name) => [foldCase(name), name]));
    const lengths: boolean[] = [];
    for (const { length } of names) lengths[length] = true;
    this.#lengths = lengths;
  }

  /** The governed name that `name` misspells; null if there is none. */
  variantOf(name: string): string | null {
    if (this.#lengths[name.length] !== true || this.has(name) || this.#unrelated.has(name)) return null;
    const governedName = this.#folded.get(foldCase(name)) ?? null;
    if (governedName === null && this.#unrelated.size < unrelatedNamesMax) this.#unrelated.add(name);
    return governedName;
  }
}

const unrelatedNamesMax = 500;

/** Folds like Go, including the long s (U+017F) and the Kelvin sign (U+212A). */
export function foldCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/**
 * Request members whose effect the gateway decides, by class. Provider types define what happens to each. `object.member` is a member of a
 * top-level object. A test checks the vendors' SDK types for members missing here.
 */
const membersByClass = {
  /** Another model or a route to one. */
  model: [
    "models",
    "fallbacks",
    "route",
    "preset",
    "plugins",
    "model_list",
    "deployment_id",
    "agent_config.model",
    "agentConfig.model",
    ...ofGenerationConfig("routingConfig", "routing_config", "modelSelectionConfig", "model_selection_config"),
  ],
  /** Another host or account, or something sent to it. */
  host: [
    "provider",
    "custom_llm_provider",
    "api_base",
    "base_url",
    "api_key",
    "extra_headers",
    "extra_body",
    "data_sources",
    "agent_config.enable_bigquery_tool",
  ],
  /** A tier, region or discount. */
  tier: ["service_tier", "serviceTier", "speed", "inference_geo", "background_options.completion_window"],
  /** More expensive reasoning, or an account's program. */
  program: ["reasoning.mode", "access_programs.cyber"],
  /** Several answers for the work of one. */
  cost: ["best_of", "multi_agent.enabled"],
  /** The billed party. */
  payer: ["billing_policy.bill_to", "user_profile_id", "workspace_id"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const governedMembers: ReadonlySet<string> = new Set(Object.values(membersByClass).flat());
export const tierMembers: ReadonlySet<string> = new Set(membersByClass.tier);

/** Gemini accepts camelCase and snake_case. */
function ofGenerationConfig(...names: readonly string[]): readonly string[] {
  return ["generationConfig", "generation_config"].flatMap((config) => names.map((name) => `${config}.${name}`));
}
