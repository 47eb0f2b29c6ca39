import { tooLargeBodies } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

tooLargeBodies(completionsEndpoint);
