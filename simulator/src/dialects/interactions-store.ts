import type { Answer } from "../answer.ts";
import { bounds } from "../bounds.ts";
import type { DialectEvent } from "../framing.ts";
import { type JsonObject, objectsOf } from "../json-body.ts";

/** A stored interaction. It belongs to the account that created it. */
export interface StoredInteraction {
  readonly id: string;
  readonly account: string;
  /** The steps of its request, without previous interactions. */
  readonly input: readonly JsonObject[];
  readonly previous: StoredInteraction | null;
  readonly final: JsonObject;
  readonly answer: Answer;
  readonly background: boolean;
  /** The time span in Unix milliseconds during which a background interaction is incomplete. */
  readonly startedAt: number;
  readonly readyAt: number;
  cancelled: boolean;
  /** Its stream from the first event. */
  readonly events: () => Iterable<DialectEvent>;
}

/** The storage for `store` and `previous_interaction_id`. Bounded: the oldest interactions are dropped first. */
export interface InteractionStore {
  /** Part of every id, so that ids of two simulators differ. */
  readonly nonce: string;
  put(interaction: StoredInteraction): void;
  /** Returns null for an id that is unknown or belongs to another account. */
  find(account: string, id: string): StoredInteraction | null;
  remove(interaction: StoredInteraction): void;
}

export function createInteractionStore(): InteractionStore {
  const byId = new Map<string, StoredInteraction>();
  return {
    nonce: crypto.randomUUID().slice(0, 8),
    put(interaction) {
      byId.set(interaction.id, interaction);
      for (const oldest of byId.keys()) {
        if (byId.size <= bounds.storedResponsesMax) break;
        byId.delete(oldest);
      }
    },
    find(account, id) {
      const interaction = byId.get(id);
      return interaction?.account === account ? interaction : null;
    },
    remove: (interaction) => void byId.delete(interaction.id),
  };
}

/** All steps up to and including this interaction. */
export function historyOf(interaction: StoredInteraction | null): readonly JsonObject[] {
  const turns: (readonly JsonObject[])[] = [];
  for (let current = interaction; current !== null; current = current.previous) {
    turns.unshift([...current.input, ...objectsOf(current.final["steps"])]);
  }
  return turns.flat();
}

/** The interaction as it is at this time. */
export function interactionAt(stored: StoredInteraction, now: number): JsonObject {
  const { final, startedAt, readyAt } = stored;
  const { steps: _steps, usage: _usage, ...unfinished } = final;
  if (stored.cancelled) return { ...unfinished, status: "cancelled" };
  if (now >= readyAt) return final;
  return { ...unfinished, status: now - startedAt < (readyAt - startedAt) / 2 ? "queued" : "in_progress" };
}
