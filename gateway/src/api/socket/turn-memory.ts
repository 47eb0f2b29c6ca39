import { bounds, type HeldMemory } from "#core/index.ts";

/** What is remembered of the conversations of one WebSocket, in characters of JSON. */
const socketMemoryCharactersMax = 16 * 1024 * 1024;

interface Remembered {
  readonly id: string;
  /** Pieces of JSON text, each of one item or more. */
  readonly items: readonly string[];
  readonly characters: number;
}

/**
 * The last response of each lane of one socket, with all that came before it, for whoever goes on from it by its id: what
 * no upstream keeps. What does not fit is not remembered; its caller is then told so, and sends it whole.
 */
export class TurnMemory {
  readonly #held: HeldMemory;
  readonly #lanes = new Map<string | null, Remembered>();
  #characters = 0;

  constructor(held: HeldMemory) {
    this.#held = held;
  }

  find(id: string): readonly string[] | null {
    for (const remembered of this.#lanes.values()) if (remembered.id === id) return remembered.items;
    return null;
  }

  remember(lane: string | null, id: string, items: readonly string[]): void {
    this.#forget(lane);
    const said = items.filter((text) => text !== "");
    const characters = said.reduce((sum, item) => sum + item.length, 0);
    if (characters > bounds.socketLaneCharactersMax) return;
    // What was said last is worth most; a map keeps the order of its keys.
    for (const oldest of this.#lanes.keys()) {
      if (this.#characters + characters <= socketMemoryCharactersMax) break;
      this.#forget(oldest);
    }
    if (this.#held.tryHold(this.#characters + characters) !== null) return;
    this.#characters += characters;
    this.#lanes.set(lane, { id, items: said, characters });
  }

  close(): void {
    for (const lane of [...this.#lanes.keys()]) this.#forget(lane);
  }

  #forget(lane: string | null): void {
    const remembered = this.#lanes.get(lane);
    if (remembered === undefined) return;
    this.#lanes.delete(lane);
    this.#characters -= remembered.characters;
    this.#held.keep(this.#characters);
  }
}
