import { Refusal } from "../dialect.ts";
import { isObject, type JsonObject, objectOf, objectsOf, stringOf } from "../json-body.ts";
import { isSigned } from "../seal.ts";
import { contentsOf, field, partsOf } from "./gemini-json.ts";

/** Throws Refusal for requests that Gemini would refuse. `signs`: the model requires its signatures back. */
export function refuseGemini(turn: JsonObject, signs: boolean): void {
  const contents = contentsOf(turn);
  if (contents.length === 0) throw new Refusal(400, "* GenerateContentRequest.contents: contents is not specified");
  for (const [index, content] of contents.entries()) {
    const { role } = content;
    if (role !== undefined && role !== "user" && role !== "model" && role !== "function") {
      throw new Refusal(400, "Please use a valid role: user, model.");
    }
    if (partsOf(content).length === 0) {
      throw new Refusal(400, `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`);
    }
    refuseLooseCalls(contents, index);
    if (signs) refuseUnsigned(content, index);
  }
  refuseConfig(objectOf(field(turn, "generationConfig")));
  refuseSchemas(turn);
}

/** A turn with calls must be followed by a turn with the same number of responses, and responses may not appear elsewhere. */
function refuseLooseCalls(contents: readonly JsonObject[], index: number): void {
  const calls = countParts(contents[index], "functionCall");
  const answers = countParts(contents[index + 1], "functionResponse");
  if (calls !== answers) {
    throw new Refusal(
      400,
      calls > 0
        ? "Please ensure that the number of function response parts is equal to the number of function call parts " +
            "of the function call turn."
        : "Please ensure that function response turn comes immediately after a function call turn.",
    );
  }
  if (index === 0 && countParts(contents[0], "functionResponse") > 0) {
    throw new Refusal(400, "Please ensure that function response turn comes immediately after a function call turn.");
  }
  const before = contents[index - 1];
  if (calls > 0 && (before === undefined || before["role"] === "model")) {
    throw new Refusal(
      400,
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    );
  }
}

function countParts(content: JsonObject | undefined, name: string): number {
  return partsOf(content).filter((part) => isObject(field(part, name))).length;
}

/** The first call of a turn must have a signature; every signature must be valid or the documented placeholder. */
function refuseUnsigned(content: JsonObject, index: number): void {
  let first = true;
  for (const [place, part] of partsOf(content).entries()) {
    const call = field(part, "functionCall");
    if (!isObject(call)) continue;
    const signature = field(part, "thoughtSignature");
    const name = stringOf(call["name"]);
    const at = `function call \`${name}\`, position ${index + 1}.${place + 1}`;
    if (signature === undefined && first) {
      throw new Refusal(400, `Function call is missing a thought_signature in functionCall parts: ${at}.`);
    }
    if (signature !== undefined && signature !== "skip_thought_signature_validator") {
      if (!isSigned("call", name, stringOf(signature)))
        throw new Refusal(400, `Thought signature is not valid: ${at}.`);
    }
    first = false;
  }
}

function refuseConfig(config: JsonObject): void {
  const thinking = objectOf(field(config, "thinkingConfig"));
  if (field(thinking, "thinkingBudget") !== undefined && field(thinking, "thinkingLevel") !== undefined) {
    throw new Refusal(400, "You can only set only one of thinking budget and thinking level.");
  }
  const stops = field(config, "stopSequences");
  if (Array.isArray(stops) && stops.length > 5) {
    throw new Refusal(400, "The number of stop sequences must be at most 5.");
  }
  const { temperature } = config;
  if (typeof temperature === "number" && (temperature < 0 || temperature > 2)) {
    throw new Refusal(400, "Unable to submit request because temperature must be between 0 and 2.");
  }
}

/** `parameters` and `responseSchema` accept only a subset of OpenAPI; JSON Schema has separate fields. */
function refuseSchemas(turn: JsonObject): void {
  for (const [at, tool] of objectsOf(turn["tools"]).entries()) {
    for (const [place, declared] of objectsOf(field(tool, "functionDeclarations")).entries()) {
      const path = `tools[${at}].function_declarations[${place}]`;
      if (!/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(stringOf(declared["name"]))) {
        throw new Refusal(400, `Invalid function name at '${path}.name'.`);
      }
      refuseSchema(declared["parameters"], `${path}.parameters`);
    }
  }
  refuseSchema(field(objectOf(field(turn, "generationConfig")), "responseSchema"), "generation_config.response_schema");
}

const schemaFields: ReadonlySet<string> = new Set(
  (
    "anyOf default description enum example format items maxItems maxLength maxProperties maximum minItems minLength " +
    "minProperties minimum nullable pattern properties propertyOrdering required title type"
  ).split(" "),
);

function refuseSchema(schema: unknown, path: string): void {
  if (!isObject(schema)) return;
  for (const name of Object.keys(schema)) {
    if (schemaFields.has(name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))) continue;
    throw new Refusal(400, `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`);
  }
  if (Array.isArray(schema["type"])) {
    throw new Refusal(400, `Invalid value at '${path}.type' (TYPE_ENUM), expected a string.`);
  }
  for (const [name, property] of Object.entries(objectOf(schema["properties"]))) {
    refuseSchema(property, `${path}.properties[${name}].value`);
  }
  refuseSchema(schema["items"], `${path}.items`);
  for (const [index, option] of objectsOf(field(schema, "anyOf")).entries())
    refuseSchema(option, `${path}.any_of[${index}]`);
}
