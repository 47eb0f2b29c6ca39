import { bounds, inputTokensOf, type Model, TenantMap, type Usage } from "#core/index.ts";
import type { RequestFacts } from "#protocols/index.ts";

/** Whose call it is, and what governs it. */
export interface Asker {
  readonly facts: Pick<RequestFacts, "inputEstimate" | "outputTokensMax" | "affinity">;
  readonly principal: { readonly workspace: { readonly id: string }; readonly key: { readonly id: string } };
}

/** What recent answers of one model were, to one conversation, key or workspace. */
interface Experience {
  output: number;
  /** Tokens that the upstream counted for each token guessed from the size of the input. */
  inputRatio: number;
  /** What input was guessed to cost and what it did, of recent calls; older ones fade. Nano-USD. */
  guessed: number;
  paid: number;
}

const firstGuess = 256;
const weight = 1 / 16;
const costsKept = 3 / 4;
/** Beyond these an input is not text for the most part (pictures), and says nothing of the next one. */
const ratioMin = 0.2;
const ratioMax = 3;

/**
 * What a call will probably use, for its rates, for what is held of its budgets and for answers that report nothing. It goes by
 * recent answers of the model to the same conversation, else the same key, else the same workspace: no tenant learns from, or
 * displaces, another one.
 */
export class UsageForecast {
  readonly #experiences = new TenantMap<Experience>(bounds.forecastsMax);
  /** Calls in flight by key. */
  readonly #trusted = new Map<string, number>();
  /** A call asks for its scopes several times. */
  #last: {
    readonly keyId: string;
    readonly affinity: string | null;
    readonly model: string;
    readonly scopes: Scopes;
  } | null = null;

  /** Input and output together. */
  tokens(asker: Asker, model: Model): number {
    const known = this.#find(asker, model.name);
    return (
      Math.ceil(asker.facts.inputEstimate * (known?.inputRatio ?? 1)) +
      (asker.facts.outputTokensMax ?? Math.ceil(known?.output ?? firstGuess))
    );
  }

  input(asker: Asker, model: string): number {
    return Math.ceil(asker.facts.inputEstimate * (this.#find(asker, model)?.inputRatio ?? 1));
  }

  /** What input cost for each nano-USD that was guessed: caches and the text's density are in it. null: not known. */
  inputCostRatio(asker: Asker, model: string): number | null {
    for (const scope of this.#scopesOf(asker, model)) {
      const known = this.#experiences.get(asker.principal.workspace.id, scope);
      if (known !== undefined && known.guessed > 0) return known.paid / known.guessed;
    }
    return null;
  }

  /** Takes what an upstream reported for a call, and what its input was guessed to cost and did (nano-USD), where that was guessed. */
  learn(
    asker: Asker,
    model: string,
    usage: Usage,
    cost: { readonly guessed: number; readonly paid: number } | null,
  ): void {
    const workspaceId = asker.principal.workspace.id;
    for (const scope of this.#scopesOf(asker, model)) {
      let known = this.#experiences.get(workspaceId, scope);
      if (known === undefined) {
        known = { output: usage.output, inputRatio: ratioOf(asker, usage, 1), guessed: 0, paid: 0 };
        this.#experiences.set(workspaceId, scope, known);
      } else {
        known.output += (usage.output - known.output) * weight;
        known.inputRatio += (ratioOf(asker, usage, known.inputRatio) - known.inputRatio) * weight;
      }
      if (cost === null || cost.guessed <= 0) continue;
      known.guessed = known.guessed * costsKept + cost.guessed;
      known.paid = known.paid * costsKept + cost.paid;
    }
  }

  /** Another call of the key is held below the first guess. False: there are as many as may be. */
  trust({ principal }: Asker): boolean {
    const count = this.#trusted.get(principal.key.id) ?? 0;
    if (count >= bounds.trustedHoldsMax) return false;
    this.#trusted.set(principal.key.id, count + 1);
    return true;
  }

  /** One of them has ended. */
  distrust({ principal }: Asker): void {
    const count = (this.#trusted.get(principal.key.id) ?? 1) - 1;
    if (count > 0) this.#trusted.set(principal.key.id, count);
    else this.#trusted.delete(principal.key.id);
  }

  #find(asker: Asker, model: string): Experience | undefined {
    for (const scope of this.#scopesOf(asker, model)) {
      const known = this.#experiences.get(asker.principal.workspace.id, scope);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  #scopesOf({ principal, facts: { affinity } }: Asker, model: string): Scopes {
    const keyId = principal.key.id;
    const last = this.#last;
    if (last !== null && last.keyId === keyId && last.affinity === affinity && last.model === model) return last.scopes;
    const ofKey = `${keyId}\n${model}`;
    const scopes = affinity === null ? [ofKey, model] : [`${ofKey}\n${affinity}`, ofKey, model];
    this.#last = { keyId, affinity, model, scopes };
    return scopes;
  }
}

/** Of experience: conversation, key, workspace. */
type Scopes = readonly string[];

/** `otherwise` for a call that says nothing: a short one, or one that is mostly not text. */
function ratioOf({ facts }: Asker, usage: Usage, otherwise: number): number {
  const counted = inputTokensOf(usage);
  if (facts.inputEstimate < bounds.calibrationTokensMin || counted === 0) return otherwise;
  const ratio = counted / facts.inputEstimate;
  return ratio < ratioMin || ratio > ratioMax ? otherwise : ratio;
}
