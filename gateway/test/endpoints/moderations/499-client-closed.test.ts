import { leavers } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

leavers(moderationsEndpoint);
