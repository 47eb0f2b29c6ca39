import { Refusal } from "../dialect.ts";
import type { SimulatorRequest } from "../request.ts";
import { openAiError } from "./openai-conventions.ts";
import type { VendorFiles } from "./vendor-files.ts";

/** Fine-tuning jobs of an OpenAI account. */
export interface OpenAiObjects {
  /** Returns null for requests to other endpoints. */
  answer(request: SimulatorRequest): { readonly status: number; readonly body: string } | null;
}

interface StoredObject {
  readonly id: string;
}

/** Stored in memory until the simulator ends. */
export function createOpenAiObjects(files: VendorFiles): OpenAiObjects {
  const jobs = new Map<string, StoredObject>();
  let created = 0;
  const jobOf = ({ body }: SimulatorRequest): StoredObject => {
    const { model, training_file } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
    if (!files.list().some(({ id, deleted }) => id === training_file && !deleted)) {
      throw new Refusal(400, "training_file does not exist", { param: "training_file" });
    }
    const fields = { object: "fine_tuning.job", created_at: 1_700_000_000, status: "queued", training_file, model };
    return { id: `ftjob-sim${++created}`, ...fields } as StoredObject;
  };
  return {
    answer(request) {
      const match = /\/v1\/fine_tuning\/jobs(?:\/([^/]+))?$/.exec(request.path);
      if (match === null) return null;
      try {
        if (!/^bearer\s+\S/i.test(request.headers["authorization"] ?? ""))
          throw new Refusal(401, "You didn't provide an API key.");
        return { status: 200, body: JSON.stringify(execute(request, match[1])) };
      } catch (thrown) {
        const refusal =
          thrown instanceof Refusal ? thrown : new Refusal(400, "We could not parse the JSON body of your request.");
        return { status: refusal.status, body: openAiError(refusal, "") };
      }
    },
  };

  function execute(request: SimulatorRequest, id: string | undefined): unknown {
    const { method } = request;
    if (id === undefined && method === "GET")
      return { object: "list", data: [...jobs.values()].toReversed(), has_more: false };
    if (id === undefined && method === "POST") {
      const job = jobOf(request);
      if (jobs.size >= objectsMax) jobs.delete(jobs.keys().next().value ?? "");
      jobs.set(job.id, job);
      return job;
    }
    const object = id === undefined ? undefined : jobs.get(id);
    if (object === undefined) throw new Refusal(404, `No such object: ${id ?? ""}`, { param: "id" });
    if (method === "GET") return object;
    throw new Refusal(405, "Not allowed.");
  }
}

const objectsMax = 1_000;
