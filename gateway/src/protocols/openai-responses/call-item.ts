import { customInput } from "../openai-chat/custom-tool.ts";
import { BaseItem, type ItemPlace, type ItemStatus, type OutputItem } from "./output-item.ts";
import { searchedFor } from "./search-tool.ts";

/** What the caller knows the called tool by. */
export interface CallName {
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | null;
}

export class FunctionCallItem extends BaseItem implements OutputItem {
  readonly #call: CallName;
  #arguments = "";

  constructor(place: ItemPlace, call: CallName) {
    super(place);
    this.#call = call;
  }

  open(): string {
    return this.added(this.#item("in_progress"));
  }

  delta(text: string): string {
    this.#arguments += text;
    return this.say("response.function_call_arguments.delta", `,"delta":${JSON.stringify(text)}`);
  }

  endBlock(): string {
    const members = `,"arguments":${JSON.stringify(this.#arguments)},"name":${JSON.stringify(this.#call.name)}`;
    return this.say("response.function_call_arguments.done", members);
  }

  close(status: ItemStatus): string {
    return this.done(JSON.stringify(this.#item(status)));
  }

  #item(status: string): object {
    const { callId, name, namespace } = this.#call;
    return {
      type: "function_call",
      id: this.place.id,
      call_id: callId,
      name,
      arguments: this.#arguments,
      status,
      ...(namespace === null ? {} : { namespace }),
    };
  }
}

/** A call whose arguments are told only once they are whole. */
abstract class WholeCallItem extends BaseItem implements OutputItem {
  protected arguments = "";

  protected abstract item(status: string): object;

  open(): string {
    return this.added(this.item("in_progress"));
  }

  delta(text: string): string {
    this.arguments += text;
    return "";
  }

  endBlock(): string {
    return "";
  }

  close(status: ItemStatus): string {
    return this.done(JSON.stringify(this.item(status)));
  }
}

/** A custom tool's free text stands inside JSON arguments. */
export class CustomCallItem extends WholeCallItem {
  readonly #call: CallName;
  #input = "";

  constructor(place: ItemPlace, call: CallName) {
    super(place);
    this.#call = call;
  }

  override endBlock(): string {
    this.#input = customInput(this.arguments);
    const text = JSON.stringify(this.#input);
    const delta = this.#input === "" ? "" : this.say("response.custom_tool_call_input.delta", `,"delta":${text}`);
    return delta + this.say("response.custom_tool_call_input.done", `,"input":${text}`);
  }

  protected item(status: string): object {
    const { callId, name, namespace } = this.#call;
    return {
      type: "custom_tool_call",
      id: this.place.id,
      call_id: callId,
      name,
      input: this.#input,
      status,
      ...(namespace === null ? {} : { namespace }),
    };
  }
}

/** A search for tools, whose arguments are a value. */
export class SearchCallItem extends WholeCallItem {
  readonly #callId: string;

  constructor(place: ItemPlace, callId: string) {
    super(place);
    this.#callId = callId;
  }

  protected item(status: string): object {
    return {
      type: "tool_search_call",
      id: this.place.id,
      call_id: this.#callId,
      execution: "client",
      arguments: searchedFor(this.arguments),
      status,
    };
  }
}
