import { describe, expect, test } from "bun:test";
import type { ConsoleGuardrail } from "@sluice/contract";
import { blockedBy, bodyOf, emptyGuardrail, guardrailDraftOf, templates, withKind } from "./guardrail-draft.ts";

const stored: ConsoleGuardrail = {
  ...{ id: "grl_1", name: "own", workspace: { id: "ws_1", slug: "acme" }, inherited: false, enabled: true },
  ...{ workspaces: [], groups: ["grp_1"], keys: [], all_calls: false, on: ["input"], at: ["system"] },
  ...{ kind: "webhook", check: { kind: "webhook", url: "https://dlp.example/", has_secret: true }, action: "flag" },
  ...{ on_error: "pass", unreadable: "block", stream: "whole", timeout_ms: 500, enforce: false },
  ...{ managed_by: "console", created_at: 0 },
};

describe("the form of a guardrail", () => {
  test("sends a stored guardrail back unchanged, and keeps its secret", () => {
    expect(bodyOf(guardrailDraftOf(stored))).toEqual({
      ...{ name: "own", enabled: true, check: { kind: "webhook", url: "https://dlp.example/" }, action: "flag" },
      ...{ groups: ["grp_1"], keys: [], on: ["input"], at: ["system"], on_error: "pass", unreadable: "block" },
      ...{ stream: "whole", timeout_ms: 500, enforce: false },
    });
  });

  test("can send each template once its words are filled in", () => {
    for (const template of templates.filter((each) => each !== "none")) {
      expect(blockedBy({ ...emptyGuardrail(null, template), words: "Falcon" })).toBeNull();
    }
    expect(blockedBy(emptyGuardrail(null, "words"))).toBe("Enter at least one word.");
  });

  test("names what is missing", () => {
    const draft = emptyGuardrail("acme");
    expect(blockedBy({ ...draft, name: "Two words" })).toContain("Enter a name");
    expect(blockedBy({ ...draft, scope: "some" })).toBe("Choose what it applies to.");
    expect(blockedBy({ ...draft, on: [] })).toBe("Choose requests, answers or both.");
    expect(blockedBy({ ...draft, timeoutMs: 20 })).toBe("Enter a time limit of 50 to 30000 milliseconds.");
    expect(blockedBy({ ...draft, kind: "webhook", url: "dlp" })).toBe("Enter the URL of your service.");
    expect(blockedBy({ ...draft, kind: "patterns" })).toBe("Enter a name and an expression for each pattern.");
    expect(blockedBy({ ...draft, kind: "moderation" })).toBe("Choose a model.");
  });

  test("keeps what happens on an error when the action changes, and else follows the action", () => {
    const chosen = { ...emptyGuardrail(null), onError: "pass" } as const;
    expect(bodyOf({ ...chosen, action: "mask" }).on_error).toBe("pass");
    const stricter = guardrailDraftOf({ ...stored, on_error: "block" });
    expect(["block", "flag"].map((action) => bodyOf({ ...stricter, action: action as "block" }).on_error)).toEqual([
      "block",
      "block",
    ]);
    const usual = guardrailDraftOf(stored);
    expect([bodyOf(usual).on_error, bodyOf({ ...usual, action: "mask" }).on_error]).toEqual(["pass", "block"]);
  });

  test("stops masking when the check finds no places", () => {
    const draft = emptyGuardrail(null, "personal_data");
    expect(withKind(draft, "classifier")).toMatchObject({ kind: "classifier", action: "block" });
    expect(withKind(draft, "words")).toMatchObject({ kind: "words", action: "mask" });
  });

  test("applies to every call again when its scope is all", () => {
    const draft = { ...guardrailDraftOf(stored), scope: "all" } as const;
    expect(bodyOf(draft)).toMatchObject({ groups: [], keys: [] });
  });
});
