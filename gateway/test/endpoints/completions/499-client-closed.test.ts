import { leavers } from "../passed-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

leavers(completionsEndpoint);
