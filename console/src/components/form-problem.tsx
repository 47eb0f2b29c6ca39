import { Text } from "@mantine/core";
import { useLayoutEffect, useRef, useState } from "react";
import type { Problem } from "../client/problem.ts";
import { t } from "../language/areas/components.ts";
import { ProblemAlert } from "./problem-alert.tsx";

/**
 * The problem of a form. If a field is already marked (`wrongField`), it gets the focus and only the gateway's message is shown here;
 * otherwise the whole problem is shown. Render it inside the form, below the fields.
 */
export function FormProblem({ problem }: { readonly problem: Problem | null }) {
  const place = useRef<HTMLDivElement>(null);
  const [marked, setMarked] = useState(false);
  useLayoutEffect(() => {
    const form = place.current?.closest("form") ?? place.current?.parentElement;
    const field = problem?.param == null ? null : form?.querySelector<HTMLElement>('[aria-invalid="true"]');
    setMarked(field != null);
    // The form may be scrolled away from the error.
    if (field == null) place.current?.scrollIntoView({ block: "nearest" });
    else field.focus();
  }, [problem]);
  if (problem === null) return null;
  return (
    <div ref={place} className="form-problem">
      {marked ? (
        <Text size="xs" c="dimmed" role="alert">
          {t("components.problem.marked")}{" "}
          {problem.gatewayMessage !== null && t("components.problem.detail", { message: problem.gatewayMessage })}
        </Text>
      ) : (
        <ProblemAlert problem={problem} />
      )}
    </div>
  );
}
