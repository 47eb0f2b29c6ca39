import type { KeyboardCoordinateGetter } from "@dnd-kit/core";
import { movedBetween, movedInto, type Priorities } from "./priorities.ts";

/** Drop targets of a deployment: a priority, or a gap for a new priority. */
export type DropPlace = { readonly kind: "priority" | "gap"; readonly place: number };

export function dropId({ kind, place }: DropPlace): string {
  return `${kind}:${place}`;
}

export function dropPlace(id: string): DropPlace | null {
  const found = /^(priority|gap):(\d+)$/.exec(id);
  return found === null ? null : { kind: found[1] === "priority" ? "priority" : "gap", place: Number(found[2]) };
}

export function dropped(priorities: Priorities, key: string, place: DropPlace): Priorities {
  return place.kind === "priority"
    ? movedInto(priorities, key, place.place)
    : movedBetween(priorities, key, place.place);
}

/** From top to bottom: before the first priority, the first priority, between it and the second … after the last. */
export function dropOrder(priorities: number): readonly string[] {
  const ids = [dropId({ kind: "gap", place: 0 })];
  for (let place = 0; place < priorities; place += 1) {
    ids.push(dropId({ kind: "priority", place }), dropId({ kind: "gap", place: place + 1 }));
  }
  return ids;
}

/** Arrow keys move a lifted deployment from place to place, not by pixels. */
export const byPlaces: KeyboardCoordinateGetter = (event, { currentCoordinates, context }) => {
  const direction = event.code === "ArrowDown" ? 1 : event.code === "ArrowUp" ? -1 : 0;
  const { collisionRect, droppableRects, over } = context;
  if (direction === 0 || collisionRect === null || over === null) return undefined;
  event.preventDefault();
  const order = dropOrder(Math.floor(droppableRects.size / 2));
  const target = droppableRects.get(order[order.indexOf(String(over.id)) + direction] ?? "");
  if (target === undefined) return undefined;
  return { x: currentCoordinates.x, y: target.top + target.height / 2 - collisionRect.height / 2 };
};
