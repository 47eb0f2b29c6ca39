import { type Cut, cutsFrom, itemsAt, membersAt, stringAt } from "../json-places.ts";
import type { Span } from "../json-scan.ts";
import { sealMark } from "../seal-text.ts";

/**
 * What gives way in a Responses request, so that OpenAI is shown no seal of another vendor: the reasoning items that
 * carry one. `start`: where the body's object begins.
 */
export function unsealInput(bytes: Buffer, start: number): readonly Cut[] {
  return membersAt(bytes, start)
    .filter(({ name }) => name === "input")
    .flatMap((input) => {
      const items = itemsAt(bytes, input.start);
      return cutsFrom(items, new Set(items.filter((item) => isSeal(bytes, item))));
    });
}

/** A member that stands twice counts both times: readers differ in which one they take. */
function isSeal(bytes: Buffer, { start }: Span): boolean {
  const members = membersAt(bytes, start);
  const says = (wanted: string, fits: (text: string) => boolean): boolean =>
    members.some((member) => member.name === wanted && fits(stringAt(bytes, member) ?? ""));
  return says("type", (type) => type === "reasoning") && says("encrypted_content", (text) => text.startsWith(sealMark));
}
