import { Button, Text } from "@mantine/core";
import { type Explanation, everyWorkspace } from "@sluice/contract";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useCall } from "../../api/use-call.ts";
import { t } from "../../language/areas/limits.ts";
import { useSession } from "../../session/session-context.tsx";
import { limitLink, policyLink, raisedLimit } from "./limit-link.ts";

interface RaiseLimitProps {
  readonly refusal: NonNullable<Explanation["refusal"]>;
  readonly workspace: string;
}

/** Leads from a refusal to the editor of the limit that was reached, with a higher amount filled in, or to the form of the policy. */
export function RaiseLimit({ refusal: { reached, limit, used }, workspace }: RaiseLimitProps) {
  const { may } = useSession();
  if (reached === null || limit === null) return null;
  const { scope } = reached;
  if (scope === "policy") return <RaisePolicy id={reached.scope_id} workspace={workspace} />;
  const wide = reached.scope === "workspace";
  if (!(wide ? may("administrator") : may("admin", workspace))) return <AskSomebody administrator={wide} />;
  return <RaiseButton link={limitLink({ ...reached, scope }, workspace, raisedLimit(reached.kind, limit, used))} />;
}

/** Nothing if the policy was deleted. */
function RaisePolicy({ id, workspace }: { readonly id: string; readonly workspace: string }) {
  const { may } = useSession();
  const policy = useCall("budgets.show", { params: { workspace, budget: id } }).data;
  if (policy === undefined) return null;
  const wide = policy.inherited;
  if (!(wide ? may("administrator") : may("admin", workspace))) return <AskSomebody administrator={wide} />;
  return <RaiseButton link={policyLink(id, wide ? everyWorkspace : workspace)} />;
}

function AskSomebody({ administrator }: { readonly administrator: boolean }) {
  return (
    <Text size="xs" c="dimmed">
      {administrator ? t("limits.change.askAdministrator") : t("limits.change.askAdmin")}
    </Text>
  );
}

function RaiseButton({ link }: { readonly link: LinkProps }) {
  return (
    <Button variant="default" renderRoot={(props) => <Link {...link} {...props} />}>
      {t("limits.change.raise")}
    </Button>
  );
}
