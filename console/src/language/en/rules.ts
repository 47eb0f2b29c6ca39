export const rules = {
  why: {
    matches: "It matches: {found}.",
    decided_before: "It matches, but rule {rule} has decided this already.",
    no_claim: "There is no claim {claim}.",
    left_out: "The issuer left {claim} out because it is too long. Let it send only the groups that matter here.",
    not_plain: "{claim} is neither a text nor a list of texts.",
    is_list: "{claim} is a list. Use “contains” or “has the form”.",
    other_value: "{claim} is {found}.",
    not_in_list: "{claim} is {found}: no value of it matches.",
    no_workspace: "It matches, but there is no workspace {workspace}.",
    no_group: "It matches, but there is no group {group} in {workspace}.",
  },
} as const;
