import { Refusal } from "../dialect.ts";
import type { SimulatorRequest } from "../request.ts";
import { openAiError } from "./openai-conventions.ts";

/** Objects of an OpenAI account other than models: files, and fine-tuning jobs that use them. */
export interface OpenAiObjects {
  /** Returns null for requests to other endpoints. */
  answer(request: SimulatorRequest): { readonly status: number; readonly body: string } | null;
}

interface StoredObject {
  readonly id: string;
}

/** Stored in memory until the simulator ends. Only the size of a file is stored. */
export function createOpenAiObjects(): OpenAiObjects {
  const files = new Map<string, StoredObject>();
  const jobs = new Map<string, StoredObject>();
  let created = 0;
  const put = (store: Map<string, StoredObject>, object: StoredObject): StoredObject => {
    if (store.size >= objectsMax) store.delete(store.keys().next().value ?? "");
    store.set(object.id, object);
    return object;
  };
  const fileOf = ({ upload }: SimulatorRequest): StoredObject => {
    const part = upload?.parts.find(({ name }) => name === "file");
    const purpose = upload?.parts.find(({ name }) => name === "purpose")?.value;
    if (part === undefined) throw new Refusal(400, "'file' is a required property", { param: "file" });
    if (purpose === undefined) throw new Refusal(400, "'purpose' is a required property", { param: "purpose" });
    const fields = { object: "file", bytes: part.size, created_at: 1_700_000_000, filename: part.filename };
    return { id: `file-sim${++created}`, ...fields, purpose, status: "processed" } as StoredObject;
  };
  const jobOf = ({ body }: SimulatorRequest): StoredObject => {
    const { model, training_file } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
    if (typeof training_file !== "string" || !files.has(training_file)) {
      throw new Refusal(400, "training_file does not exist", { param: "training_file" });
    }
    const fields = { object: "fine_tuning.job", created_at: 1_700_000_000, status: "queued", training_file, model };
    return { id: `ftjob-sim${++created}`, ...fields } as StoredObject;
  };
  return {
    answer(request) {
      const match = /\/v1\/(files|fine_tuning\/jobs)(?:\/([^/]+))?$/.exec(request.path);
      if (match === null) return null;
      const [, kind = "", id] = match;
      const store = kind === "files" ? files : jobs;
      try {
        if (!/^bearer\s+\S/i.test(request.headers["authorization"] ?? ""))
          throw new Refusal(401, "You didn't provide an API key.");
        return { status: 200, body: JSON.stringify(execute(request, store, id)) };
      } catch (thrown) {
        const refusal =
          thrown instanceof Refusal ? thrown : new Refusal(400, "We could not parse the JSON body of your request.");
        return { status: refusal.status, body: openAiError(refusal, "") };
      }
    },
  };

  function execute(request: SimulatorRequest, store: Map<string, StoredObject>, id: string | undefined): unknown {
    const { method } = request;
    if (id === undefined && method === "GET")
      return { object: "list", data: [...store.values()].toReversed(), has_more: false };
    if (id === undefined && method === "POST") return put(store, store === files ? fileOf(request) : jobOf(request));
    const object = id === undefined ? undefined : store.get(id);
    if (object === undefined) throw new Refusal(404, `No such object: ${id ?? ""}`, { param: "id" });
    if (method === "GET") return object;
    if (method !== "DELETE" || store !== files) throw new Refusal(405, "Not allowed.");
    store.delete(object.id);
    return { id: object.id, object: "file", deleted: true };
  }
}

const objectsMax = 1_000;
