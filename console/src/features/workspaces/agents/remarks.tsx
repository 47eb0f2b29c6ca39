import { Alert, List } from "@mantine/core";
import type { SettingsRemark } from "@sluice/contract";
import { t } from "../../../language/areas/agents.ts";

interface RemarksProps {
  readonly color: "red" | "yellow";
  readonly title: string;
  readonly remarks: readonly SettingsRemark[];
}

/** Errors and warnings about the settings, each with its path. */
export function Remarks({ color, title, remarks }: RemarksProps) {
  if (remarks.length === 0) return null;
  return (
    <Alert color={color} title={title} role={color === "red" ? "alert" : "status"}>
      <List size="sm">
        {remarks.map((remark) => (
          <List.Item key={`${remark.path} ${remark.code}`}>
            <code>{remark.path}</code>: {wordsOf(remark)}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function wordsOf({ code, expected }: SettingsRemark): string {
  switch (code) {
    case "type":
      return t("agents.remarks.type", { types: expected.join(" / ") });
    case "value":
      return t("agents.remarks.value", { values: expected.join(", ") });
    case "rule":
      return t("agents.remarks.rule");
    case "env_name":
      return t("agents.remarks.envName");
    case "first_model":
      return t("agents.remarks.firstModel");
    default:
      return t("agents.remarks.unknown");
  }
}
