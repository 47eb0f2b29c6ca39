import { bounds, type Model, type Task } from "#core/index.ts";
import { type JsonObject, parseObject } from "#protocols/index.ts";
import { type MaterialInHand, MaterialLost } from "../accept/task-body.ts";
import { readVideoRequest } from "../accept/validate-video.ts";
import { advanceResponse } from "../background.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { settle } from "../settle/settle.ts";
import { submit } from "../submit/submit.ts";
import { TaskPass } from "../task-pass.ts";
import { poll, reconcile } from "./poll.ts";

/** Takes a task one step further: whatever its state asks for now. */
export async function advance(dependencies: TaskDependencies, pass: TaskPass, signal: AbortSignal): Promise<void> {
  if (pass.task.kind === "response") return advanceResponse(dependencies, pass, signal);
  switch (pass.task.state) {
    case "accepted":
      return submitLeftOver(dependencies, pass);
    case "submitting": {
      // Its lease ran out: whoever was sending it was stopped, and may have sent it or not.
      const detail = "whoever sent it was interrupted, so nobody knows whether it arrived";
      if (!(await pass.step({ state: "unknown", detail }))) return;
      return (await inTurn(dependencies, pass, signal)) ? reconcile(dependencies, pass, signal) : undefined;
    }
    case "unknown":
      return (await inTurn(dependencies, pass, signal)) ? reconcile(dependencies, pass, signal) : undefined;
    default:
      return (await inTurn(dependencies, pass, signal)) ? poll(dependencies, pass, signal) : undefined;
  }
}

/** False: the account's row is long, so the task was put off until its place in it. */
async function inTurn({ rates }: TaskDependencies, pass: TaskPass, signal: AbortSignal): Promise<boolean> {
  if (pass.task.account === null) return true;
  const place = await rates.turn(pass.task, pass.task.account, signal);
  if (place !== null) await pass.leave({ dueAt: place, placeAt: place });
  return place === null;
}

/**
 * A task that was accepted and never sent, because whoever accepted it stopped. Whether its caller may use the fallbacks
 * of the model is not known any more, so only the model itself is asked.
 */
async function submitLeftOver(dependencies: TaskDependencies, pass: TaskPass): Promise<void> {
  const { task } = pass;
  if (dependencies.clock.now() >= task.deadlineAt) {
    const error = { code: "expired", message: "The task was not sent before its deadline." };
    await settle(dependencies, pass, { state: "expired", error });
    return;
  }
  const model = dependencies.configSnapshot().models.get(task.model);
  if (model === undefined) {
    const error = { code: "model_not_found", message: "The model was removed before the task was sent." };
    await settle(dependencies, pass, { state: "failed", error, httpStatus: 404, errorCode: "model_not_found" });
    return;
  }
  // A submission takes longer than a poll.
  await pass.leave({});
  const leased = await dependencies.store.leaseOne(task.id, dependencies.clock.now(), bounds.taskSubmitLeaseMs);
  if (leased === null) return;
  const again = new TaskPass(dependencies, leased);
  if (again.task.state !== "accepted") await again.leave({});
  else await submitAgain(dependencies, again, model);
}

/** With its material at hand. While that cannot be had it waits; when it is lost, so is the task. */
async function submitAgain(dependencies: TaskDependencies, pass: TaskPass, model: Model): Promise<void> {
  const { task } = pass;
  let kept: KeptBody;
  try {
    kept = await keptBody(dependencies, task);
  } catch (thrown) {
    if (thrown instanceof MaterialLost) {
      const error = { code: "material_lost", message: "The material of the task was lost before it was sent." };
      await settle(dependencies, pass, { state: "failed", error, httpStatus: 500, errorCode: "internal_error" });
    } else {
      await pass.leave({ dueAt: dependencies.clock.now() + bounds.taskAcceptedGraceMs });
    }
    dependencies.observer.log("error", "The body of a video task that was not sent yet cannot be read.", {
      task: task.id,
      error: thrown,
    });
    return;
  }
  const { value, material } = kept;
  try {
    const request = readVideoRequest(value, dependencies.webhookPlaces);
    await submit(dependencies, { pass, request, models: [model], material });
  } finally {
    material?.release();
  }
}

interface KeptBody {
  readonly value: JsonObject;
  readonly material: MaterialInHand | null;
}

async function keptBody({ materials }: TaskDependencies, task: Task): Promise<KeptBody> {
  const value = parseObject(task.request);
  if (value === null) throw new MaterialLost();
  return { value, material: await materials.open(task) };
}
