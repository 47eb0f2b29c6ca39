import { badRequests } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

badRequests(moderationsEndpoint);
