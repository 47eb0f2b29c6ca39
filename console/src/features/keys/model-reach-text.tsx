import { Code, Group, Text } from "@mantine/core";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/keys.ts";
import { type ReachPatterns, reachOf } from "./model-reach.ts";

/** How many models to name, so that the fields below do not move. */
const written = 8;
const heldMax = 5;

/** Previews the models that the key can call, and what blocks others. */
export function ModelReach(patterns: ReachPatterns) {
  const models = useCall("models.list");
  if (models.data === undefined) return null;
  const reach = reachOf(models.data.data, patterns);
  return (
    <div aria-live="polite">
      <Text size="xs" c="dimmed" mb={4}>
        {reach.callable.length === 0 ? t("keys.reach.none") : t("keys.reach.some", { count: reach.callable.length })}
      </Text>
      <Names names={reach.callable} />
      <Held by="workspace" names={reach.heldByWorkspace} />
      <Held by="group" names={reach.heldByGroup} />
      <Held by="price" names={reach.unpriced} />
      <Held by="deployment" names={reach.unserved} />
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
          {t("keys.reach.more", { count: more })}
        </Text>
      )}
    </Group>
  );
}

function Held({
  by,
  names,
}: {
  readonly by: "workspace" | "group" | "price" | "deployment";
  readonly names: readonly string[];
}) {
  if (names.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" mt={4} className="break">
      {t("keys.reach.denied", {
        by,
        names: names.slice(0, heldMax).join(", "),
        more: Math.max(0, names.length - heldMax),
      })}
    </Text>
  );
}
