import { Alert, Text } from "@mantine/core";
import type { AccessCheck, Need } from "@sluice/contract";
import { IconArrowRight } from "@tabler/icons-react";
import { Link, type LinkProps } from "@tanstack/react-router";
import { t } from "../../language/areas/access.ts";
import { useSession } from "../../session/session-context.tsx";

interface AccessChangeProps {
  readonly check: AccessCheck;
  readonly workspace: string;
  readonly group: string | null;
}

interface Advice {
  readonly words: string;
  readonly verb: string;
  readonly link: LinkProps;
  readonly needs: Need;
}

/** Explains what would have to change so that the key can call the model, with a link. */
export function AccessChange({ check, workspace, group }: AccessChangeProps) {
  const { may } = useSession();
  const advice = adviceFor(check, workspace, group);
  if (advice === null) return null;
  const { words, verb, link, needs } = advice;
  return (
    <Alert variant="light" color="gray" title={t("access.change.title")}>
      <Text size="sm">{words}</Text>
      {may(needs, workspace) ? (
        <Link {...link} className="text-link access-way">
          {verb}
          <IconArrowRight size={14} aria-hidden />
        </Link>
      ) : (
        <Text size="sm" mt={4}>
          {needs === "administrator"
            ? t("access.change.onlyAdministrator")
            : t("access.change.onlyRole", { role: needs })}
        </Text>
      )}
    </Alert>
  );
}

function adviceFor(check: AccessCheck, workspace: string, group: string | null): Advice | null {
  return workspaceAdvice(check, workspace) ?? groupAdvice(check, workspace, group) ?? keyAdvice(check, workspace);
}

function workspaceAdvice({ reason, model }: AccessCheck, workspace: string): Advice | null {
  const link: LinkProps = {
    to: "/workspaces/$workspace",
    params: { workspace },
    search: { workspace, edit: "1" },
  };
  switch (reason) {
    case "workspace_disabled":
      return {
        words: t("access.change.enableWorkspace"),
        verb: t("access.change.openWorkspace"),
        link,
        needs: "administrator",
      };
    case "workspace_models":
      return {
        words: t("access.change.workspaceModels", { model }),
        verb: t("access.change.editWorkspace"),
        link,
        needs: "administrator",
      };
    case "no_deployment":
      return {
        words: t("access.change.deployModel"),
        verb: t("access.change.openModel"),
        link: { to: "/models/$model", params: { model }, search: { workspace } },
        needs: "administrator",
      };
    case "model_not_priced":
      return {
        words: t("access.change.priceModel"),
        verb: t("access.change.openModel"),
        link: { to: "/models/$model", params: { model }, search: { workspace } },
        needs: "administrator",
      };
    default:
      return null;
  }
}

function groupAdvice({ reason, model }: AccessCheck, workspace: string, group: string | null): Advice | null {
  if (reason !== "group_models") return null;
  return {
    words: t("access.change.groupModels", { model }),
    verb: t("access.change.editGroup"),
    link: {
      to: "/workspaces/$workspace",
      params: { workspace },
      search: { workspace, tab: "groups", ...(group === null ? {} : { group }) },
    },
    needs: "admin",
  };
}

function keyAdvice({ reason, key, model }: AccessCheck, workspace: string): Advice | null {
  const toKey = (more: Record<string, string>): LinkProps => ({
    to: "/keys/$key",
    params: { key: key.id },
    search: { workspace, ...more },
  });
  const edit = { verb: t("access.change.editKey"), link: toKey({ edit: "1" }), needs: "member" } as const;
  const open = { verb: t("access.change.openKey"), link: toKey({}), needs: "member" } as const;
  switch (reason) {
    case "key_models":
      return { words: t("access.change.keyModels", { model }), ...edit };
    case "key_expired":
      return { words: t("access.change.extendKey"), ...edit };
    case "key_disabled":
      return { words: t("access.change.enableKey"), ...open };
    case "key_without_secret":
      return { words: t("access.change.rotateKey"), ...open };
    case "key_revoked":
      return {
        words: t("access.change.revokedKey"),
        verb: t("access.change.createKey"),
        link: { to: "/keys", search: { workspace, create: "1" } },
        needs: "member",
      };
    default:
      return null;
  }
}
