import { Failure, type RequestedTurn, type Turn, type TurnTool } from "#core/index.ts";
import { customTool, isCustom } from "../openai-chat/custom-tool.ts";

const turnOutlineCharactersMax = 512 * 1024;

/** A tool as it goes from one thread to another, where a custom one would not be known again. */
type CarriedTool = TurnTool & { readonly custom?: true };

/**
 * The part of a turn that its answer is written from, as JSON. Instructions and schemas are left out if it is too large. Throws Failure
 * request_too_large if that does not suffice.
 */
export function writeOutline(turn: RequestedTurn): string {
  const { messages: _messages, ...asked } = turn as Turn;
  const whole = JSON.stringify({ ...asked, tools: asked.tools.map(carried) });
  if (whole.length <= turnOutlineCharactersMax) return whole;
  const bare = JSON.stringify({ ...asked, system: [], format: null, tools: asked.tools.map(bareTool) });
  if (bare.length <= turnOutlineCharactersMax) return bare;
  throw new Failure("request_too_large", "The call has more tools or settings than can be translated.");
}

export function readOutline(text: string): RequestedTurn {
  const asked = JSON.parse(text) as RequestedTurn & { readonly tools: readonly CarriedTool[] };
  return { ...asked, tools: asked.tools.map(knownAgain) };
}

function carried(tool: TurnTool): CarriedTool {
  return isCustom(tool) ? { ...tool, custom: true, parameters: null } : tool;
}

function bareTool(tool: TurnTool): CarriedTool {
  return { ...carried(tool), description: null, parameters: null };
}

/** Every custom tool has the one shared value for its parameters. */
function knownAgain({ custom, ...tool }: CarriedTool): TurnTool {
  return custom === true ? { ...tool, parameters: customTool(tool.name, null).parameters } : tool;
}
