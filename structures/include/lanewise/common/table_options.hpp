// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/call/workspace.hpp>
#include <lanewise/common/table_vocabulary.hpp>

LANEWISE_BEGIN_NAMESPACE

/// Options of bulk calls on tables.
struct table_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// Receives what came of every item.
  option_view<table_status> status = {};
  /// Is added what came of the items. A rank-0 View.
  option_view<status_counts> tally = {};
};

/// Options of bulk calls on tables that kernels change, too: B+ trees and hash tables.
struct growing_table_options {
  /// As in table_options.
  workspace_ref work = {};
  option_view<table_status> status = {};
  option_view<status_counts> tally = {};
  /// Whether the table grows until all items are in. The call then **blocks**, and nothing else may
  /// be using the table. Otherwise it does not, and items without room have the status no_room.
  bool grow = true;

  operator table_options() const { return {work, status, tally}; }
};

LANEWISE_END_NAMESPACE
