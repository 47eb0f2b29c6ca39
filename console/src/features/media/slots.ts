/**
 * Limits concurrent loads. A browser opens six connections per host, and a video preview can occupy one: without a limit, a gallery
 * would block everything else on the page.
 */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Calls `onTurn` when a slot is free. Call the returned function when done, or to cancel. */
  take(onTurn: () => void): () => void {
    let state: "waiting" | "held" | "over" = "waiting";
    const turn = () => {
      state = "held";
      onTurn();
    };
    if (this.#free > 0) {
      this.#free -= 1;
      turn();
    } else {
      this.#waiting.push(turn);
    }
    return () => {
      if (state === "held") this.#leave();
      else if (state === "waiting") this.#waiting.splice(this.#waiting.indexOf(turn), 1);
      state = "over";
    };
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
