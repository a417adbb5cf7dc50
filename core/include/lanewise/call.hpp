// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The family of what calls share: execution spaces, status, workspaces.

#include <lanewise/call/execution_space.hpp>
#include <lanewise/call/resident.hpp>
#include <lanewise/call/status.hpp>
#include <lanewise/call/workspace.hpp>
#include <lanewise/call/workspace_layout.hpp>
