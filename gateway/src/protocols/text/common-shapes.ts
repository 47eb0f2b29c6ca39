import type { TextShape } from "./shape.ts";

/** A type, a role, a model's name, or no string at all. */
export const word: TextShape = { skip: "structure" };
export const sealed: TextShape = { skip: "sealed" };
export const media: TextShape = { skip: "media" };
export const url: TextShape = { url: true };
export const text: TextShape = {};
/** The caller's own JSON. */
export const data: TextShape = { data: true };
export const toolArguments: TextShape = { place: "tool_arguments", data: true };
/** The same as a string. */
export const toolArgumentsJson: TextShape = { place: "tool_arguments", json: true };
export const toolResults: TextShape = { place: "tool_results", data: true };
export const fileName: TextShape = { place: "files" };

/** A piece of a text in an event of a stream. */
export function piece(shape: TextShape): TextShape {
  return { ...shape, piece: true };
}

/** All texts of a member are pieces, at any depth. */
export const pieces: TextShape = piecesAtAnyDepth();

function piecesAtAnyDepth(): TextShape {
  const shape: { piece: true; others?: TextShape } = { piece: true };
  shape.others = shape;
  return shape;
}

export function object(members: Readonly<Record<string, TextShape>>, more: Omit<TextShape, "members"> = {}): TextShape {
  return { ...more, members };
}

/** Settings that are no texts: numbers, switches and names of choices. */
export function wordsOf(...names: readonly string[]): Record<string, TextShape> {
  return Object.fromEntries(names.map((name) => [name, word]));
}
