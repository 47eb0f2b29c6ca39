import type { KeyCall } from "../media/key-call.ts";

/** What the panel of each type of model is given. */
export interface ModelPanelProps {
  readonly call: KeyCall;
  readonly model: string;
  /** Paths that the model is called at. */
  readonly endpoints: readonly string[];
}
