/** Renders events with their running number. */
export class NumberedEvents {
  #next = 0;

  get next(): number {
    return this.#next;
  }

  /** `members`: JSON text of the event's own members, without braces; type and number are put around them. */
  line(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}",${members},"sequence_number":${this.#next++}}\n\n`;
  }
}
