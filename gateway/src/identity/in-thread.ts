/** The second entry point of identity: grants of models, for the thread of `rehearsal`, which loads little. */

export { callableModels } from "./callable-models.ts";
export { deniedBy, mayCall } from "./model-grant.ts";
