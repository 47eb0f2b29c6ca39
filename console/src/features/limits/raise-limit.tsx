import { Button, Text } from "@mantine/core";
import type { Explanation } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { t } from "../../language/areas/limits.ts";
import { useSession } from "../../session/session-context.tsx";
import { limitLink, raisedLimit } from "./limit-link.ts";

interface RaiseLimitProps {
  readonly refusal: NonNullable<Explanation["refusal"]>;
  readonly workspace: string;
}

/** Leads from a refusal to the editor of the limit that was reached, with a higher amount filled in. */
export function RaiseLimit({ refusal: { reached, limit, used }, workspace }: RaiseLimitProps) {
  const { may } = useSession();
  if (reached === null || limit === null) return null;
  const { scope } = reached;
  if (scope === "policy") return null;
  const wide = reached.scope === "workspace";
  if (!(wide ? may("administrator") : may("admin", workspace))) {
    return (
      <Text size="xs" c="dimmed">
        {wide ? t("limits.change.askAdministrator") : t("limits.change.askAdmin")}
      </Text>
    );
  }
  const link = limitLink({ ...reached, scope }, workspace, raisedLimit(reached.kind, limit, used));
  return (
    <Button variant="default" renderRoot={(props) => <Link {...link} {...props} />}>
      {t("limits.change.raise")}
    </Button>
  );
}
