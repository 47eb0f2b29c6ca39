import { bounds, type Model, type Task } from "#core/index.ts";
import { type JsonObject, parseObject } from "#protocols/index.ts";
import { type LoadedMaterial, MaterialLost } from "../accept/task-body.ts";
import { readVideoRequest } from "../accept/validate-video.ts";
import { pollResponse, prepareResponse } from "../background.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { settle } from "../settle/settle.ts";
import { submit } from "../submit/submit.ts";
import { TaskPass } from "../task-pass.ts";
import { poll, reconcile } from "./poll.ts";

/**
 * Takes a task one step further.
 *
 * - accepted: submits it.
 * - submitting: the submission was interrupted, so the task becomes unknown.
 * - unknown: searches the vendor's list for it.
 * - queued, running: polls it.
 */
export async function advance(pass: TaskPass): Promise<void> {
  const isResponse = pass.task.kind === "response";
  if (isResponse && !(await prepareResponse(pass))) return;
  if (!isResponse && pass.task.state === "accepted") return submitUnsent(pass);
  if (!isResponse && pass.task.state === "submitting") {
    // The process that held the lease stopped, before or after it sent the task.
    const detail = "the process that was sending it stopped, so it may or may not have been sent";
    if (!(await pass.step({ state: "unknown", detail }))) return;
  }
  if (!(await waitForTurn(pass))) return;
  if (isResponse) await pollResponse(pass);
  else if (pass.task.state === "unknown") await reconcile(pass);
  else await poll(pass);
}

/** Returns false if too many polls of the account are due; the task then has a later slot. */
async function waitForTurn(pass: TaskPass): Promise<boolean> {
  if (pass.task.account === null) return true;
  const place = await pass.dependencies.pacer.waitForTurn(pass.task, pass.task.account, pass.signal);
  if (place !== null) await pass.release({ dueAt: place, placeAt: place });
  return place === null;
}

/** Submits a task after the process that accepted it has stopped. Only the requested model is used: which fallbacks the caller may use was not stored. */
async function submitUnsent(pass: TaskPass): Promise<void> {
  const { task, dependencies } = pass;
  if (dependencies.clock.now() >= task.deadlineAt) {
    const error = { code: "expired", message: "The task was not sent before its deadline." };
    await settle(pass, { state: "expired", error });
    return;
  }
  const model = dependencies.configSnapshot().models.get(task.model);
  if (model === undefined) {
    const error = { code: "model_not_found", message: "The model was removed before the task was sent." };
    await settle(pass, { state: "failed", error, httpStatus: 404, errorCode: "model_not_found" });
    return;
  }
  // A submission needs a longer lease than a poll.
  await pass.release({});
  const leased = await dependencies.store.leaseOne(task.id, dependencies.clock.now(), bounds.taskSubmitLeaseMs);
  if (leased === null) return;
  const nextPass = new TaskPass(dependencies, leased);
  if (nextPass.task.state !== "accepted") await nextPass.release({});
  else await submitWithStoredBody(nextPass, model);
}

/** Waits while the material cannot be read; fails the task if it is lost. */
async function submitWithStoredBody(pass: TaskPass, model: Model): Promise<void> {
  const { task, dependencies } = pass;
  let stored: StoredBody;
  try {
    stored = await readStoredBody(dependencies, task);
  } catch (thrown) {
    if (thrown instanceof MaterialLost) {
      const error = { code: "material_lost", message: "The material of the task was lost before it was sent." };
      await settle(pass, { state: "failed", error, httpStatus: 500, errorCode: "internal_error" });
    } else {
      await pass.release({ dueAt: dependencies.clock.now() + bounds.taskAcceptedGraceMs });
    }
    dependencies.observer.log("error", "failed to read the body of an unsent video task", {
      task: task.id,
      error: thrown,
    });
    return;
  }
  const { value, material } = stored;
  try {
    const request = readVideoRequest(value, dependencies.webhookExemptions);
    await submit({ pass, request, models: [model], material });
  } finally {
    material?.release();
  }
}

interface StoredBody {
  readonly value: JsonObject;
  readonly material: LoadedMaterial | null;
}

async function readStoredBody({ materials }: TaskDependencies, task: Task): Promise<StoredBody> {
  const value = parseObject(task.request);
  if (value === null) throw new MaterialLost();
  return { value, material: await materials.open(task) };
}
