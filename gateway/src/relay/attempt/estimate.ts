import { bounds, inputTokensOf, type Model, TenantMap, type Usage } from "#core/index.ts";
import type { RequestFacts } from "#protocols/index.ts";

/** A call with its key and workspace. */
export interface ForecastCall {
  readonly facts: Pick<RequestFacts, "inputEstimate" | "outputTokensMax" | "affinity">;
  readonly principal: { readonly workspace: { readonly id: string }; readonly key: { readonly id: string } };
}

/** Averages over recent answers of one model to one conversation, key or workspace. */
interface Experience {
  output: number;
  /** Counted by the upstream for each token estimated from the size of the input. */
  inputRatio: number;
  /** Estimated and paid cost of the input of recent calls, nano-USD. Older calls fade. */
  guessed: number;
  paid: number;
}

const firstGuess = 256;
const weight = 1 / 16;
const costWeight = 3 / 4;
/** Outside of these an input is mostly not text (pictures), and the next one may differ. */
const ratioMin = 0.2;
const ratioMax = 3;

/**
 * Forecasts the usage of a call, for its rates, its budget holds and answers without usage. It is based on recent answers of the model
 * to the same conversation, else the same key, else the same workspace. Tenants neither learn from nor evict each other.
 */
export class UsageForecast {
  readonly #experiences = new TenantMap<Experience>(bounds.forecastsMax);
  /** Calls in flight by key. */
  readonly #trusted = new Map<string, number>();
  /** The scopes of the last call, which are needed several times. */
  #last: {
    readonly keyId: string;
    readonly affinity: string | null;
    readonly model: string;
    readonly scopes: Scopes;
  } | null = null;

  /** Input and output together. */
  tokens(call: ForecastCall, model: Model): number {
    const recent = this.#find(call, model.name);
    return (
      Math.ceil(call.facts.inputEstimate * (recent?.inputRatio ?? 1)) +
      (call.facts.outputTokensMax ?? Math.ceil(recent?.output ?? firstGuess))
    );
  }

  input(call: ForecastCall, model: string): number {
    return Math.ceil(call.facts.inputEstimate * (this.#find(call, model)?.inputRatio ?? 1));
  }

  /** Paid for each nano-USD of estimated input cost, so that it includes caches and the density of the text. null: unknown. */
  inputCostRatio(call: ForecastCall, model: string): number | null {
    for (const scope of this.#scopesOf(call, model)) {
      const recent = this.#experiences.get(call.principal.workspace.id, scope);
      if (recent !== undefined && recent.guessed > 0) return recent.paid / recent.guessed;
    }
    return null;
  }

  /** `usage`: as the upstream reported it. `cost`: of the input, estimated and paid, nano-USD; null: it was not estimated. */
  learn(
    call: ForecastCall,
    model: string,
    usage: Usage,
    cost: { readonly guessed: number; readonly paid: number } | null,
  ): void {
    const workspaceId = call.principal.workspace.id;
    for (const scope of this.#scopesOf(call, model)) {
      let recent = this.#experiences.get(workspaceId, scope);
      if (recent === undefined) {
        recent = { output: usage.output, inputRatio: ratioOf(call, usage, 1), guessed: 0, paid: 0 };
        this.#experiences.set(workspaceId, scope, recent);
      } else {
        recent.output += (usage.output - recent.output) * weight;
        recent.inputRatio += (ratioOf(call, usage, recent.inputRatio) - recent.inputRatio) * weight;
      }
      if (cost === null || cost.guessed <= 0) continue;
      recent.guessed = recent.guessed * costWeight + cost.guessed;
      recent.paid = recent.paid * costWeight + cost.paid;
    }
  }

  /** One more call of the key is held below the first estimate. False: bounds.trustedHoldsMax are already. */
  trust({ principal }: ForecastCall): boolean {
    const count = this.#trusted.get(principal.key.id) ?? 0;
    if (count >= bounds.trustedHoldsMax) return false;
    this.#trusted.set(principal.key.id, count + 1);
    return true;
  }

  /** Such a call has ended. */
  distrust({ principal }: ForecastCall): void {
    const count = (this.#trusted.get(principal.key.id) ?? 1) - 1;
    if (count > 0) this.#trusted.set(principal.key.id, count);
    else this.#trusted.delete(principal.key.id);
  }

  #find(call: ForecastCall, model: string): Experience | undefined {
    for (const scope of this.#scopesOf(call, model)) {
      const recent = this.#experiences.get(call.principal.workspace.id, scope);
      if (recent !== undefined) return recent;
    }
    return undefined;
  }

  #scopesOf({ principal, facts: { affinity } }: ForecastCall, model: string): Scopes {
    const keyId = principal.key.id;
    const last = this.#last;
    if (last !== null && last.keyId === keyId && last.affinity === affinity && last.model === model) return last.scopes;
    const ofKey = `${keyId}\n${model}`;
    const scopes = affinity === null ? [ofKey, model] : [`${ofKey}\n${affinity}`, ofKey, model];
    this.#last = { keyId, affinity, model, scopes };
    return scopes;
  }
}

/** Keys of experiences: conversation, key, workspace. */
type Scopes = readonly string[];

/** Returns `otherwise` for a call that is short or mostly not text. */
function ratioOf({ facts }: ForecastCall, usage: Usage, otherwise: number): number {
  const counted = inputTokensOf(usage);
  if (facts.inputEstimate < bounds.calibrationTokensMin || counted === 0) return otherwise;
  const ratio = counted / facts.inputEstimate;
  return ratio < ratioMin || ratio > ratioMax ? otherwise : ratio;
}
