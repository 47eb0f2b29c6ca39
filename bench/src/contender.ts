/** Something that answers chat completions: the upstream itself, or what stands in front of it. */
export interface Contender<Name extends string = string> {
  readonly name: Name;
  readonly port: number;
  readonly key: string;
  /** Header lines that it wants beside the key's. */
  readonly headers?: readonly string[];
  /** The process whose tree is measured; null for the upstream itself, which is not on trial. */
  readonly pid: number | null;
  /** What it complains of, to be shown when it fails; null for the upstream. */
  readonly log: string | null;
  stop(): Promise<void>;
}

/** Those that every figure compares; peers are asked by their own figure only. */
export type LabName = "direct" | "nginx" | "sluice";
