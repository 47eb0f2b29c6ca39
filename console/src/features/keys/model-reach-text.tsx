import { Code, Group, Text } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { formatCount } from "../../client/format.ts";
import { t } from "../../language/areas/keys.ts";
import { type ReachPatterns, reachOf } from "./model-reach.ts";

/** So many are named: what stands below them in a form must not be pushed away. */
const written = 8;

/** The models a key would reach as its form stands, by name, and what holds others back. */
export function ModelReach(patterns: ReachPatterns) {
  const models = useCall("models.list");
  if (models.data === undefined) return null;
  const reach = reachOf(
    models.data.data.map((model) => model.name),
    patterns,
  );
  return (
    <div aria-live="polite">
      <Text size="xs" c="dimmed" mb={4}>
        {reach.callable.length === 0
          ? t("keys.asItStandsTheKey")
          : `The key may call ${reach.callable.length === 1 ? t("keys.n1Model") : t("keys.models2", { length: formatCount(reach.callable.length) })}:`}
      </Text>
      <Names names={reach.callable} />
      <Held by="workspace" names={reach.heldByWorkspace} />
      <Held by="group" names={reach.heldByGroup} />
    </div>
  );
}

function Names({ names }: { readonly names: readonly string[] }) {
  const more = names.length - written;
  return (
    <Group gap={4}>
      {names.slice(0, written).map((name) => (
        <Code key={name} className="break" fz="xs">
          {name}
        </Code>
      ))}
      {more > 0 && (
        <Text size="xs" c="dimmed" component="span">
          {t("keys.andMore", { more: formatCount(more) })}
        </Text>
      )}
    </Group>
  );
}

function Held({ by, names }: { readonly by: "workspace" | "group"; readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  const listed = names.slice(0, 5).join(", ");
  const more = names.length > 5 ? ` and ${names.length - 5} more` : "";
  return (
    <Text size="xs" c="dimmed" mt={4} className="break">
      {t("keys.theHoldsBack", { by, listed, more })}
    </Text>
  );
}
