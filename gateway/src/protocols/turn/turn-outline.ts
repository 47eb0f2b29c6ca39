import { Failure, type RequestedTurn, type Turn } from "#core/index.ts";

const turnOutlineCharactersMax = 512 * 1024;

/**
 * The part of a turn that its answer is written from, as JSON. Instructions and schemas are left out if it is too large. Throws Failure
 * request_too_large if that does not suffice.
 */
export function writeOutline(turn: RequestedTurn): string {
  const { messages: _messages, ...outline } = turn as Turn;
  const whole = JSON.stringify(outline);
  if (whole.length <= turnOutlineCharactersMax) return whole;
  const tools = outline.tools.map((tool) => ({ ...tool, description: null, parameters: null }));
  const bare = JSON.stringify({ ...outline, system: [], format: null, tools });
  if (bare.length <= turnOutlineCharactersMax) return bare;
  throw new Failure("request_too_large", "The call has more tools or settings than can be translated.");
}

export function readOutline(text: string): RequestedTurn {
  return JSON.parse(text) as RequestedTurn;
}
