import { type RehearsedChange, rehearsedChangeSchema } from "@sluice/contract/config-file";
import { ConfigInvalid, dataPath, type Problem } from "./config-invalid.ts";
import { schemaProblems } from "./schema-problems.ts";
import { readYaml, type YamlSource } from "./yaml-source.ts";

/** Maximum number of nodes that aliases expand to, and of listed problems. */
const changeAliasesMax = 100;
const changeProblemsMax = 100;

export interface ParsedChange {
  readonly change: RehearsedChange;
  /** A problem at a path of the change, with its place in the file. */
  readonly problemAt: (path: readonly PropertyKey[], message: string) => Problem;
}

/** Reads a change of the configuration, in YAML or JSON. Throws `ConfigInvalid` with all problems. `file`: its name in messages. */
export function parseChange(text: string, file: string): ParsedChange {
  const source = readYaml(text);
  const problemAt = (path: readonly PropertyKey[], message: string): Problem => {
    return { file, ...source.positionOf(path), path: dataPath(path), message };
  };
  const refuse = (problems: readonly Problem[]): never => {
    throw new ConfigInvalid(file, problems, changeProblemsMax);
  };
  if (source.faults.length > 0) refuse(source.faults.map((fault) => ({ ...fault, file, path: "" })));
  const data = dataOf(source);
  if (data === undefined) return refuse([problemAt([], "aliases (`*name`) expand to too many nodes")]);
  const parsed = rehearsedChangeSchema.safeParse(data);
  if (parsed.success) return { change: parsed.data, problemAt };
  const problems = parsed.error.issues.flatMap((issue) => schemaProblems(issue, data, rehearsedChangeSchema));
  return refuse(
    problems.map(({ path, unknownField, message }) => {
      const position = unknownField === undefined ? source.positionOf(path) : source.positionOfKey(path, unknownField);
      return { file, ...position, path: dataPath(path), message };
    }),
  );
}

function dataOf({ document }: YamlSource): unknown {
  try {
    return document.toJS({ maxAliasCount: changeAliasesMax }) ?? {};
  } catch {
    return undefined;
  }
}
