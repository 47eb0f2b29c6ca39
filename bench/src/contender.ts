/** Something that answers chat completions: the upstream itself, or what stands in front of it. */
export interface Contender {
  readonly name: "direct" | "nginx" | "sluice";
  readonly port: number;
  readonly key: string;
  /** The process whose tree is measured; null for the upstream itself, which is not on trial. */
  readonly pid: number | null;
  /** What it complains of, to be shown when it fails; null for the upstream. */
  readonly log: string | null;
  stop(): Promise<void>;
}
