import type { VideoTasksOptions } from "../options.ts";

/** The copy is nobody's; its bytes go unless somebody else has the same. What fails here is told and left. */
export async function letGo(
  { unusedBlobs, observer }: Pick<VideoTasksOptions, "unusedBlobs" | "observer">,
  taskId: string,
  hash: string,
): Promise<void> {
  await unusedBlobs?.drop(hash).catch((thrown: unknown) => {
    observer.log("warn", "The copy of a deleted video could not be removed.", { task: taskId, hash, error: thrown });
  });
}
