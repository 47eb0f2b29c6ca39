import type { KeyboardCoordinateGetter } from "@dnd-kit/core";
import { movedBetween, movedInto, type Steps } from "./steps.ts";

/** Where a deployment may be dropped: into a step, or between two as a step of its own. */
export type DropPlace = { readonly kind: "step" | "gap"; readonly place: number };

export function dropId({ kind, place }: DropPlace): string {
  return `${kind}:${place}`;
}

export function dropPlace(id: string): DropPlace | null {
  const found = /^(step|gap):(\d+)$/.exec(id);
  return found === null ? null : { kind: found[1] === "step" ? "step" : "gap", place: Number(found[2]) };
}

export function dropped(steps: Steps, key: string, place: DropPlace): Steps {
  return place.kind === "step" ? movedInto(steps, key, place.place) : movedBetween(steps, key, place.place);
}

/** From top to bottom: before the first step, the first step, between it and the second … after the last. */
export function dropOrder(steps: number): readonly string[] {
  const ids = [dropId({ kind: "gap", place: 0 })];
  for (let place = 0; place < steps; place += 1) {
    ids.push(dropId({ kind: "step", place }), dropId({ kind: "gap", place: place + 1 }));
  }
  return ids;
}

/** With the arrow keys a lifted deployment goes from place to place, not by pixels. */
export const byPlaces: KeyboardCoordinateGetter = (event, { currentCoordinates, context }) => {
  const step = event.code === "ArrowDown" ? 1 : event.code === "ArrowUp" ? -1 : 0;
  const { collisionRect, droppableRects, over } = context;
  if (step === 0 || collisionRect === null || over === null) return undefined;
  event.preventDefault();
  const order = dropOrder(Math.floor(droppableRects.size / 2));
  const target = droppableRects.get(order[order.indexOf(String(over.id)) + step] ?? "");
  if (target === undefined) return undefined;
  return { x: currentCoordinates.x, y: target.top + target.height / 2 - collisionRect.height / 2 };
};
